"""The files of all-MiniLM-L6-v2 in eight-bit integers: ``model.onnx``, ``tokenizer.json``, and
their checksums in ``SHA256SUMS``."""

from pathlib import Path

FOLDER = Path(__file__).parent
