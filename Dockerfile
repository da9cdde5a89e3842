# Groupwise with CUDA: docker build -t groupwise . && docker run --rm --gpus all --init -p 127.0.0.1:7860:7860 \
#   -v groupwise:/home/groupwise/.groupwise groupwise            (or: docker compose up)
#
# A plain Python image: PyPI's torch for Linux brings its own CUDA libraries, and the driver comes from the host through
# the NVIDIA container toolkit. An nvidia/cuda base would carry the same gigabytes a second time.
FROM python:3.11-slim

# gcc: Triton, which torch uses on a GPU, compiles small C stubs as it goes. bubblewrap and libseccomp2: the sandbox for
# people's own reward functions; where the container may make no namespaces, Landlock and seccomp take its place.
RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev bubblewrap libseccomp2 \
    && rm -rf /var/lib/apt/lists/*

ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PYTHONUNBUFFERED=1 \
    NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility

# The Makefile's steps in the Makefile's order: torch first, in a layer of its own, which the project's changes leave alone.
RUN python -m pip install torch==2.13.0
COPY . /src
RUN python -m pip install /src && rm -rf /src

RUN useradd --create-home --uid 1000 groupwise && install -d -o groupwise -g groupwise -m 700 /home/groupwise/.groupwise
USER groupwise
WORKDIR /home/groupwise
ENV GROUPWISE_HOME=/home/groupwise/.groupwise
VOLUME /home/groupwise/.groupwise

EXPOSE 7860
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
  CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:7860/healthz', timeout=4)"]

# Inside a container 0.0.0.0 is needed; who gets in is decided by the token ($GROUPWISE_TOKEN, or one that is made and
# printed in the log) and by the published port. For another name than localhost, add --allow-host NAME.
ENTRYPOINT ["groupwise"]
CMD ["serve", "--host", "0.0.0.0", "--port", "7860", "--no-open", "--token", "auto", "--allow-host", "localhost"]
