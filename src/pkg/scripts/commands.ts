/** What an operator pastes into Intune, an RMM or a shell. No field's text ever stands in a command. */
function commandFor(script: string): string {
  return `powershell.exe -NoProfile -NonInteractive -ExecutionPolicy Bypass -File .\\${script}`;
}

export const installCommand = commandFor("install.ps1");
export const uninstallCommand = commandFor("uninstall.ps1");
