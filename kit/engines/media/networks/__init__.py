"""Networks that find faces and subjects; README.md here has their licenses and sources."""

from __future__ import annotations

from pathlib import Path

FACES = Path(__file__).with_name("face_detection_yunet_2023mar.onnx")
SUBJECTS = Path(__file__).with_name("selfie_segmentation.tflite")
