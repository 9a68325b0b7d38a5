# Bardo in a container: built in one stage, and nothing but the programs in the next. All it keeps is in the volume.
FROM rust:1.95.0-slim-bookworm AS build
WORKDIR /src
COPY . .
RUN cargo build --release --locked -p bardo -p bardo-chain --bins \
    && install -D -t /out/bin target/release/bardo target/release/bardo-chain

FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 10001 bardo && chmod 700 /home/bardo
COPY --from=build /out/bin/bardo /out/bin/bardo-chain /usr/local/bin/
USER bardo
ENV BARDO_HOME=/home/bardo/home
VOLUME /home/bardo
# Golems finish their tick and come to rest.
STOPSIGNAL SIGTERM
ENTRYPOINT ["bardo"]
CMD ["up"]
