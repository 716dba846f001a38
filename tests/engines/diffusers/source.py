"""The source text of a library of pipelines, as much as the kit reads of it."""

AUTO = """
from collections import OrderedDict
AUTO_TEXT2IMAGE_PIPELINES_MAPPING = OrderedDict([
    ("plain", PlainPipeline), ("lone", LonePipeline), ("tied", PlainControlNetPipeline)])
AUTO_IMAGE2IMAGE_PIPELINES_MAPPING = OrderedDict([
    ("plain", PlainImg2ImgPipeline), ("tied", PlainImg2ImgPipeline)])
AUTO_INPAINT_PIPELINES_MAPPING = OrderedDict([("plain", PlainInpaintPipeline)])
SOMETHING_ELSE = 7
"""
SOURCE = """
import torch  # is not there, and nobody minds

class PlainPipeline(DiffusionPipeline):
    @torch.no_grad()
    def __call__(self, prompt=None, height=None, width=512, num_inference_steps: int = 30,
                 guidance_scale: float = 7, negative_prompt="", sigmas=None, latents=None,
                 size=(1, 2), mode=torch.float32, *, clip_skip=None, **kwargs):
        pass

class PlainImg2ImgPipeline(PlainPipeline):
    def __call__(self, prompt=None, image=None, strength=0.8): pass

class PlainInpaintPipeline(PlainPipeline): pass
class LonePipeline(PlainPipeline): pass
class WanThingPipeline:
    def __call__(self, image, prompt=None, num_frames=81, last_image=None, height=480, width=832):
        pass
class LTXThingPipeline:
    def __call__(self, prompt, num_frames=161, frame_rate=25, height=512, width=704): pass
class StableAudioPipeline:
    def __call__(self, prompt=None, width=1): pass
class TextPipeline:
    def __call__(self, prompt=None): pass
class PoseVideoPipeline:
    def __call__(self, pose_video, height=1, width=1): pass
class SilentPipeline: pass
class PlainControlNetPipeline:
    def __call__(self, prompt=None, image=None, height=None, width=None): pass
class PlainFillPipeline:
    def __call__(self, prompt=None, image=None, mask_image=None, true_cfg_scale=1.0,
                 guidance_scale=30.0, negative_prompt=None, num_inference_steps=250): pass
class SanaVideoPipeline:
    def __call__(self, prompt, frames: int = 81, height=480, width=832, fps=24.0): pass
class LengthyPipeline:
    def __call__(self, prompt, video_length: int = 16, height=512, width=512): pass
class PlainPriorPipeline(PlainPipeline): pass
class PosedPipeline:
    def __call__(self, prompt=None, height=None, width=None, conditioning_frames=None): pass
class Flux2ThingPipeline:
    def __call__(self, image=None, prompt=None, height=None, width=None): pass
"""
