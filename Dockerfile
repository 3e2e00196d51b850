# syntax=docker/dockerfile:1
FROM python:3.13-slim AS build
ENV PYTHONDONTWRITEBYTECODE=1 UV_LINK_MODE=copy UV_COMPILE_BYTECODE=1
WORKDIR /muninn
COPY requirements requirements
RUN python -m venv .venv \
    && .venv/bin/python -m pip install --no-cache-dir --require-hashes -r requirements/uv.txt \
    && VIRTUAL_ENV=/muninn/.venv .venv/bin/uv pip install --no-cache --require-hashes -r requirements/run.txt
COPY . .
RUN VIRTUAL_ENV=/muninn/.venv .venv/bin/uv pip install --no-cache --offline --no-deps --no-build-isolation . \
    && .venv/bin/uv pip uninstall --python .venv/bin/python uv

FROM python:3.13-slim
# The model's client trusts the system's certificates.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --home-dir /var/lib/muninn --create-home muninn
COPY --from=build /muninn/.venv /muninn/.venv
ENV PATH=/muninn/.venv/bin:$PATH PYTHONUNBUFFERED=1 MUNINN_DATA_DIR=/var/lib/muninn
USER 10001
WORKDIR /var/lib/muninn
# SIGTERM lets the turns under way end, within MUNINN_DRAIN_S.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s --retries=3 CMD ["muninn", "health"]
ENTRYPOINT ["muninn"]
CMD ["run"]
