# Builds the bundled file, then ships it with Node and nothing else.
# The digest pins the base image, so that builds are reproducible. CONTRIBUTING.md says how to update it.
ARG NODE_IMAGE=node:24-bookworm-slim@sha256:6f7b03f7c2c8e2e784dcf9295400527b9b1270fd37b7e9a7285cf83b6951452d
FROM ${NODE_IMAGE} AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY build.mjs help.mjs supply.mjs tsconfig.json LICENSE ./
COPY assets assets
COPY docs docs
COPY src src
# The commit that `platen --version` prints; the build has no .git.
ARG COMMIT=unknown
# Any user and group may run the image: all can write /data, as all can write /tmp.
RUN PLATEN_COMMIT=${COMMIT} node build.mjs \
 && install -D -m 644 dist/platen.cjs /image/app/platen.cjs && install -d -m 1777 /image/data

FROM ${NODE_IMAGE}
LABEL org.opencontainers.image.title="Platen" \
      org.opencontainers.image.licenses="MIT"
# One malloc arena for all threads: threads reuse each other's freed memory, which lowers the peak by about 17 MB.
ENV NODE_ENV=production DATA_DIR=/data PORT=8080 MALLOC_ARENA_MAX=1
COPY --from=build /image /
USER 1000:1000
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=3s --start-period=5s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:'+process.env.PORT+'/health').then(r=>process.exit(r.ok?0:1),()=>process.exit(1))"]
CMD ["node", "/app/platen.cjs"]
