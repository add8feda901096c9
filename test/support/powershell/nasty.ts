/** Strings that are special to PowerShell, file systems or text rendering, and some that are not. */
export const nasty = [
  ...`' ‘ ’ ‚ ‛ " \` $ $() $(calc) $\{x} @' '@ @" #> <# %PATH% ; | & \\ /`.split(" "),
  ...["\0", "\r", "\n", "\r\n", "\t", "\u0085", "\u2028", "\u200e", "\u202e", "\ufeff", "\ufffe"],
  ..."\ud800 \udc00 😀 ü é CON -Force --% {0} * ? [ ] x Büro 1".split(" "),
  " ",
];
