# Builds the npm package and installs it into an image that contains nothing else of this repository.
#
#   docker build -t sandbank .
#   docker run --rm -p 127.0.0.1:4000:4000 sandbank
#
# Publish the port on 127.0.0.1: without that address, Docker opens it to the whole network, and with the embedded database anyone may
# sign up. docs/shared-server.md describes a server for a team.
#
# The tag follows the security updates of a Node.js release line with long-term support. For a reproducible build, pin its digest:
#   docker buildx imagetools inspect node:24-bookworm-slim      # prints the digest
#   docker build --build-arg NODE_IMAGE=node:24-bookworm-slim@sha256:... -t sandbank .
ARG NODE_IMAGE=node:24-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /src
# The dependencies first: they change less often than the sources, so Docker can reuse this layer.
COPY package.json package-lock.json .npmrc ./
RUN npm ci --include=dev --ignore-scripts
# .dockerignore lists what the build context contains.
COPY . .
RUN npm run build && mkdir /pack && npm pack --pack-destination=/pack
RUN npm install --prefix=/opt/sandbank --omit=dev --ignore-scripts --no-save /pack/sandbank-*.tgz

FROM ${NODE_IMAGE}
ARG VERSION=dev
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Sandbank" \
  org.opencontainers.image.description="A sandbox-only payment service: payments, customers, FX transfers and signed webhooks, with no real money" \
  org.opencontainers.image.licenses="Apache-2.0" \
  org.opencontainers.image.version="${VERSION}" \
  org.opencontainers.image.revision="${REVISION}"
ENV NODE_ENV=production \
  PATH=/opt/sandbank/node_modules/.bin:$PATH \
  HOST=0.0.0.0 \
  PORT=4000 \
  SANDBANK_DATA_DIR=/data \
  SANDBANK_CONNECTION_FILE=/data/cli.json
COPY --from=build /opt/sandbank /opt/sandbank
# The user `node` of the base image, by number: Kubernetes can then verify that it is not root.
RUN mkdir --mode=700 /data && chown 1000:1000 /data
USER 1000:1000
WORKDIR /data
# The only path that the server writes to. The root file system may be read-only.
VOLUME /data
EXPOSE 4000
# The server writes its address to the connection file, so the check knows the port, set by PORT or by --port.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 CMD ["sandbank", "health"]
# Node is PID 1 and handles this signal and leaves no child processes that an init would have to reap. Shutdown takes up to 20 seconds.
STOPSIGNAL SIGTERM
ENTRYPOINT ["sandbank"]
CMD ["start"]
