/** Fields of an app that an administrator made in the portal. */
export const madeByHand = {
  displayName: "Made by hand",
  description: "Made by hand",
  publisher: "Contoso",
  fileName: "hand.intunewin",
  setupFilePath: "setup.exe",
  installCommandLine: "setup.exe /s",
  uninstallCommandLine: "setup.exe /u",
  applicableArchitectures: "none",
  allowedArchitectures: "x64",
  minimumSupportedWindowsRelease: "1607",
  installExperience: { runAsAccount: "system", maxRunTimeInMinutes: 60, deviceRestartBehavior: "allow" },
  returnCodes: [{ returnCode: 0, type: "success" }],
  rules: [
    {
      "@odata.type": "#microsoft.graph.win32LobAppFileSystemRule",
      ruleType: "detection",
      check32BitOn64System: false,
      path: "C:\\Program Files",
      fileOrFolderName: "App",
      operationType: "exists",
      operator: "notConfigured",
      comparisonValue: null,
    },
  ],
} as const;
