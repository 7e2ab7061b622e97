"""Recommended pre-trained models, with size, speed and published accuracy. It downloads nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Speed = Literal["fast", "medium", "slow"]
PE_README = "apps/pe/README.md of github.com/facebookresearch/perception_models, VTT-T2V"


@dataclass(frozen=True)
class Recommended:
    """A pre-trained model of open_clip's."""

    name: str  # "architecture/tag"
    size_mb: int  # of the checkpoint folder, in float32, without a tokenizer
    gflops: float  # of one frame, measured with PyTorch's FlopCounterMode
    msrvtt: float | None = None  # zero-shot text-to-video R@1 on MSR-VTT in percent, if its authors give one
    source: str = ""  # where they do
    remark: str = ""

    @property
    def catalog_name(self) -> str:
        """Its name once it is downloaded."""
        return self.name.replace("/", " / ")

    @property
    def speed(self) -> Speed:
        """Class of the time that a frame takes: fast is ViT-B/32's, slow ViT-L/14's and more."""
        return "fast" if self.gflops < 20 else "medium" if self.gflops < 100 else "slow"

    @property
    def download_s(self) -> float:
        """Seconds that its download takes at BANDWIDTH."""
        return self.size_mb * 8 / BANDWIDTH


BANDWIDTH = 100  # Mbit/s, for which the page states how long a download takes
RECOMMENDED: Sequence[Recommended] = (
    Recommended("MobileCLIP2-S2/dfndr2b", 379, 15.7, remark="small and fast"),
    Recommended("ViT-B-32/openai", 577, 8.8, remark="the base of the paper's models"),
    Recommended("ViT-B-16-SigLIP2/webli", 1431, 35.4, remark="many languages"),
    Recommended("PE-Core-B-16/meta", 1708, 35.6, 47.6, PE_README, remark="trained with videos"),
    Recommended("ViT-L-14/openai", 1631, 162.0),
    Recommended("PE-Core-L-14-336/meta", 2560, 384.4, 50.3, PE_README, remark="trained with videos"),
    Recommended("ViT-SO400M-14-SigLIP2/webli", 4332, 220.4, remark="many languages"),
    Recommended("ViT-H-14-worldwide-quickgelu/metaclip2_worldwide", 7091, 334.6, remark="MetaCLIP 2: many languages"),
)
OFFERED = next(model for model in RECOMMENDED if model.name == "ViT-B-32/openai")  # to those who know only drawings
