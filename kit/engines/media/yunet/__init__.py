"""YuNet, the network that finds faces; its license and where it comes from: README.md here."""

from __future__ import annotations

from pathlib import Path

#: The network's file.
FILE = Path(__file__).with_name("face_detection_yunet_2023mar.onnx")
