"""The files of all-MiniLM-L6-v2 in eight-bit integers: ``model.onnx`` and ``tokenizer.json``."""

from pathlib import Path

FOLDER = Path(__file__).parent
