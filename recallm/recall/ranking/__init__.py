"""Orders candidates and fits them into a budget: values in, values out.

``recall.retrieval`` reads the values from the store. The table of rankings, which joins the two
parts, is ``recallm.recall.recalling.RANKINGS``.
"""
