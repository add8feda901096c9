import { checkRules } from "./rules.ts";
import {
  base64,
  boolean,
  type Check,
  checkProperties,
  checkShape,
  type Fields,
  integer,
  isFields,
  listOf,
  oneOf,
  orNull,
  type Shape,
  shaped,
  text,
} from "./schema.ts";

export const win32 = "#microsoft.graph.win32LobApp";

/** Properties that only Win32 apps have. Graph refuses them in a `$select` over all kinds of apps. */
export const win32Only =
  "displayVersion fileName setupFilePath installCommandLine uninstallCommandLine applicableArchitectures allowedArchitectures minimumSupportedWindowsRelease installExperience returnCodes rules allowAvailableUninstall committedContentVersion size".split(
    " ",
  );

const releases =
  "1607,1703,1709,1803,1809,1903,1909,2004,2H20,21H1,Windows10_21H2,Windows10_22H2,Windows11_21H2,Windows11_22H2,Windows11_23H2,Windows11_24H2";

const pngSignature = Buffer.from("89504e470d0a1a0a", "hex");

const isPng = (bytes: Buffer) =>
  bytes.subarray(0, 8).equals(pngSignature) &&
  bytes.toString("latin1", bytes.length - 8, bytes.length - 4) === "IEND";

const icon: Shape = {
  type: "#microsoft.graph.mimeContent",
  properties: { type: oneOf("image/png"), value: base64(isPng, "a PNG") },
  required: ["type", "value"],
};

const returnCode: Shape = {
  type: "#microsoft.graph.win32LobAppReturnCode",
  isTypeOptional: true,
  properties: {
    returnCode: integer(-(2 ** 31), 2 ** 31 - 1),
    type: oneOf("failed", "success", "softReboot", "hardReboot", "retry"),
  },
  required: ["returnCode", "type"],
};

const installExperience: Shape = {
  type: "#microsoft.graph.win32LobAppInstallExperience",
  isTypeOptional: true,
  properties: {
    runAsAccount: oneOf("system", "user"),
    maxRunTimeInMinutes: integer(1, 1440),
    deviceRestartBehavior: oneOf("basedOnReturnCode", "allow", "suppress", "force"),
  },
  required: ["runAsAccount", "deviceRestartBehavior"],
};

const architectures: Check = (value, place) => {
  text(100, 1)(value, place);
  listOf(oneOf("x86", "x64", "arm64"), 1)(String(value).split(","), place);
};

const app: Shape = {
  type: win32,
  properties: {
    displayName: text(256, 1),
    description: text(10_000, 1),
    publisher: text(256, 1),
    displayVersion: orNull(text(256)),
    notes: orNull(text(10_000)),
    owner: orNull(text(256)),
    developer: orNull(text(256)),
    roleScopeTagIds: listOf(text(100, 1), 0),
    largeIcon: orNull(shaped(icon)),
    fileName: text(260, 1),
    setupFilePath: text(260, 1),
    installCommandLine: text(1024, 1),
    uninstallCommandLine: text(1024, 1),
    applicableArchitectures: oneOf("none"),
    allowedArchitectures: architectures,
    minimumSupportedWindowsRelease: oneOf(...releases.split(",")),
    installExperience: shaped(installExperience),
    returnCodes: listOf(shaped(returnCode), 1, (item) => isFields(item) && item.returnCode),
    rules: checkRules,
    allowAvailableUninstall: boolean,
  },
  required: [
    "displayName",
    "description",
    "publisher",
    "fileName",
    "setupFilePath",
    "installCommandLine",
    "uninstallCommandLine",
    "applicableArchitectures",
    "allowedArchitectures",
    "minimumSupportedWindowsRelease",
    "installExperience",
    "returnCodes",
    "rules",
  ],
};

/** @throws a refusal of an invalid app */
export function checkNewApp(body: unknown): Fields {
  return checkShape(body, "mobileApp", app);
}

/** @throws a refusal of invalid changes; `changeApp` checks that the content version exists */
export function checkChanges(changes: Fields): void {
  const properties = { ...app.properties, committedContentVersion: text(20, 1) };
  checkProperties(changes, "mobileApp", { ...app, properties });
}

/** A new app: the given fields and those that a tenant adds. */
export function newRecord(fields: Fields, id: string): Fields {
  const now = new Date().toISOString();
  return {
    displayVersion: null,
    largeIcon: null,
    owner: "",
    developer: "",
    notes: "",
    roleScopeTagIds: ["0"],
    allowAvailableUninstall: false,
    ...fields,
    "@odata.type": win32,
    id,
    createdDateTime: now,
    lastModifiedDateTime: now,
    publishingState: "notPublished",
    dependentAppCount: 0,
    size: 0,
    committedContentVersion: null,
    somethingNewerThanThisTest: { isUnknown: true },
  };
}
