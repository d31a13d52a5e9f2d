# Builds the web service. The database is a service of its own (docker-compose.yml), so Node is not needed here.
FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o /web ./cmd/web

FROM debian:bookworm-slim
# git reads the repos; curl answers the health check.
RUN apt-get update && apt-get install -y --no-install-recommends git curl ca-certificates && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 1000 --create-home storozh && install -d -o storozh -g storozh -m 700 /data
COPY --from=build /web /usr/local/bin/web
USER storozh
ENV STOROZH_ADDR=0.0.0.0:8787 STOROZH_DATA_DIR=/data
EXPOSE 8787
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=6 CMD curl -fsS http://127.0.0.1:8787/readyz || exit 1
ENTRYPOINT ["web"]
