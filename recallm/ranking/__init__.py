"""Orders candidates and fits them into a budget: values in, values out.

``recallm.retrieval`` reads the values from the store; ``recallm.recalling`` joins the two parts.
"""
