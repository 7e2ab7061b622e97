"""Start nT2VR: flags -> settings -> services -> page. No logic here.

The page is up before torch is: what the models need is imported in `warm_up`, behind the page.
"""

import logging

from nt2vr.settings import Settings, prepare_environment


def main() -> None:
    """Open the page and serve it until stopped."""
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("nt2vr").setLevel(logging.INFO)  # open_clip logs every step of loading to the root
    prepare_environment()
    from nt2vr.ui.page import serve  # noqa: PLC0415  Gradio reads the environment as it is imported
    from trainer.manager import RunManager  # noqa: PLC0415
    from trainer.ui.tab import TrainTab  # noqa: PLC0415

    settings = Settings.read()
    serve(settings, {"Train": TrainTab(RunManager(settings.data_dir / "runs"), settings).build})


if __name__ == "__main__":
    main()
