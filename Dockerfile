# docker build -t sandbank . && docker run --rm -p 4000:4000 sandbank
#
# The tag follows the security updates of a Node.js line with long-term support. For a build that can be repeated, pin its digest:
#   docker buildx imagetools inspect node:24-bookworm-slim      # prints the digest
#   docker build --build-arg NODE_IMAGE=node:24-bookworm-slim@sha256:... -t sandbank .
ARG NODE_IMAGE=node:24-bookworm-slim
FROM ${NODE_IMAGE} AS build
WORKDIR /app
# The dependencies first: they change less often than the sources, and the layer is kept.
COPY package.json package-lock.json ./
RUN npm ci --include=dev
COPY tsconfig.json tsconfig.build.json ./
COPY migrations migrations
COPY scripts scripts
COPY docs docs
COPY console console
COPY src src
COPY sdk sdk
COPY cli cli
RUN npm run build && npm prune --omit=dev

FROM ${NODE_IMAGE}
ENV NODE_ENV=production HOST=0.0.0.0 PORT=4000 SANDBANK_DATA_DIR=/data
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/migrations migrations
COPY --from=build /app/scripts/sandbank.mjs /app/scripts/prepare.mjs /app/scripts/lock.mjs scripts/
COPY --from=build /app/dist dist
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 4000
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/readyz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Node is no init, but it hands signals to the server, which then closes in order.
ENTRYPOINT ["node", "scripts/sandbank.mjs"]
CMD ["start"]
