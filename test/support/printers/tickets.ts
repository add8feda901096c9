const schemas = "http://schemas.microsoft.com/windows/2003/08/printing";

/** A PrintTicket in the format of Windows. @param choices options by feature */
export function makeTicket(
  choices: Readonly<Record<string, string>> = { "psk:JobDuplexAllDocumentsContiguously": "psk:OneSided" },
): string {
  const features = Object.entries(choices).map(
    ([name, option]) =>
      `\t<psf:Feature name="${name}">\r\n\t\t<psf:Option name="${option}" />\r\n\t</psf:Feature>\r\n`,
  );
  const namespaces = `xmlns:psf="${schemas}/printschemaframework" xmlns:psk="${schemas}/printschemakeywords"
    xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:ns0000="http://papyrus.example/2026/ticket"`;
  return `<?xml version="1.0" encoding="UTF-8"?>\r\n<psf:PrintTicket ${namespaces} version="1">\r\n${features.join("")}</psf:PrintTicket>\r\n`;
}

/** A ticket with this content in its root element. */
export function ticketAround(content: string): string {
  return makeTicket({}).replace("</psf:PrintTicket>", `${content}</psf:PrintTicket>`);
}
