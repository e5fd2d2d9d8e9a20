# docker build -t tensorcache .        docs/OPERATIONS.md has the lines to run it beside a trainer's container.
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o /out/tensorcache ./cmd/tensorcache \
 && mkdir -m 0711 /out/cache && mkdir -m 1777 /out/tmp

FROM scratch
COPY --from=build /out/tensorcache /tensorcache
COPY --from=build /out/tmp /tmp
COPY --from=build --chown=65532:65532 /out/cache /cache
USER 65532:65532
# The clients of the image itself, as the health check, start no second daemon.
ENV TENSORCACHE_DIR=/cache TENSORCACHE_AUTOSTART=0
VOLUME /cache
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD ["/tensorcache", "ls"]
ENTRYPOINT ["/tensorcache"]
CMD ["serve"]
