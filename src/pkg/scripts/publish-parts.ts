import apps from "./publish/apps.ps1";
import blocks from "./publish/blocks.ps1";
import content from "./publish/content.ps1";
import download from "./publish/download.ps1";
import fields from "./publish/fields.ps1";
import graph from "./publish/graph.ps1";
import http from "./publish/http.ps1";
import notes from "./publish/notes.ps1";
import packageFile from "./publish/package.ps1";
import parameters from "./publish/parameters.ps1";
import payload from "./publish/payload.ps1";
import relations from "./publish/relations.ps1";
import remove from "./publish/remove.ps1";
import rules from "./publish/rules.ps1";
import run from "./publish/run.ps1";
import say from "./publish/say.ps1";
import signIn from "./publish/sign-in.ps1";
import values from "./publish/values.ps1";
import log from "./shared/log.ps1";

/** What `publish.ps1` is put together from, in the order in which it runs. */
export const publishParts: readonly string[] = [
  log,
  say,
  values,
  http,
  parameters,
  signIn,
  graph,
  packageFile,
  payload,
  download,
  notes,
  rules,
  fields,
  content,
  blocks,
  relations,
  apps,
  run,
  remove,
];
