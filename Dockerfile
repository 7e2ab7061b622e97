# nT2VR in a container, on CPU by default. docs/deployment.md has the commands.
# CUDA: docker build --build-arg DEVICE=cuda . (TORCH_INDEX names an index of other torch builds, such as CPU-only ones)
ARG PYTHON=3.11
FROM python:${PYTHON}-slim

ARG TORCH_INDEX=
ARG DEVICE=cpu
ENV NT2VR_DATA=/data NT2VR_DEVICE=${DEVICE} PYTHONUNBUFFERED=1

RUN useradd --create-home --uid 1000 nt2vr && mkdir /data && chown 1000:1000 /data
WORKDIR /app
COPY requirements.txt ./
RUN pip install --no-cache-dir ${TORCH_INDEX:+--extra-index-url ${TORCH_INDEX}} -r requirements.txt
COPY app.py pyproject.toml LICENSE README.md ./
COPY assets ./assets
COPY docs ./docs
COPY nt2vr ./nt2vr
COPY trainer ./trainer
RUN python -m compileall -q nt2vr trainer

USER 1000:1000
VOLUME /data
EXPOSE 7860
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:7860/api/health', timeout=4)"]
CMD ["python", "app.py", "--host", "0.0.0.0", "--port", "7860"]
