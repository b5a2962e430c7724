"""Memories of others, each in a virtual environment of its own.

    python -m venv DIR/NAME; DIR/NAME/bin/pip install PACKAGES

``NAME`` is that of a module here; the module says the packages, and how its memory is
run. A runner reads a history a line from standard input, and writes what was found a line to
standard output; its embedding is Chroma's default (see ``benchmarks.minilm``), whose vectors all
runners keep in one file. Runners import nothing of recallm.
"""
