"""Extraction: from text to statements, concepts and neighbours; what a question asks for.

This package holds the rules of language. It never sees a store and ranks nothing. Only this
package imports spaCy, which takes half a second: other rooms import the module that they need, and
``extractor`` only where a memory is opened.
"""
