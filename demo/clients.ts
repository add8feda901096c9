/** A fictitious business, with its printers as lines of a table. */
export interface DemoClient {
  readonly name: string;
  readonly notes: string;
  /** The first three bytes of its printers' addresses. */
  readonly network: string;
  /**
   * One printer a line: name, location, driver with model, options. An option `.33` is the last byte of its address, if
   * that is not the next number.
   */
  readonly printers: string;
}

export const dentist: DemoClient = {
  name: "Zahnarztpraxis Dr. Weidenfeld",
  notes:
    "Frau Aydın am Empfang, mittwochs ab 13 Uhr geschlossen\nServerraum: Schlüssel bei der Praxisleitung",
  network: "192.168.20",
  printers: `
    Empfang            | EG, Tresen          | papyrusNew | duplex mono a4 default
    Empfang Rezepte    | EG, Tresen          | papyrusNew | a5 mono
    Behandlung 1       | EG, Raum 1          | papyrusNew | mono a4
    Behandlung 2       | EG, Raum 2          | papyrusNew | mono a4
    Behandlung 3       | 1. OG, Raum 3       | papyrusNew | mono a4
    Röntgen            | 1. OG               | quill:Quillmark C3000 PCL 6 | color a4
    Labor Etiketten    | 1. OG, Labor        | label      |
    Prophylaxe         | 1. OG, Raum 5       | papyrusOld | mono a4
    Büro               | 2. OG               | quill:Quillmark C3000 PCL 6 | duplex color a4 snmp
    Büro Fax           | 2. OG               | office     | a4
    Sozialraum         | 2. OG               | papyrusOld | mono`,
};

export const lawOffice: DemoClient = {
  name: "Kanzlei Hartmann & Sölle",
  notes: "Zwei Standorte, ein Netz; Änderungen nur nach Rücksprache mit Herrn Sölle",
  network: "10.14.2",
  printers: `
    Kopierer EG        | EG, Flur            | dealer:Foliant F-45 | duplex color a4 snmp
    Kopierer EG        | EG, Bibliothek      | dealer:Foliant F-36 | duplex color a4
    Kopierer 1. OG     | 1. OG, Flur         | dealer:Foliant F-45 | duplex color a4 snmp
    Kopierer 2. OG     | 2. OG, Flur         | dealer:Foliant F-55 | duplex color a3 snmp
    Sekretariat Hartmann | EG, Raum 03       | papyrusNew | duplex mono a4 default
    Sekretariat Sölle  | 1. OG, Raum 11      | papyrusNew | duplex mono a4
    Anwalt 1           | EG, Raum 05         | papyrusNew | mono a4
    Anwalt 2           | EG, Raum 06         | papyrusNew | mono a4
    Anwalt 3           | 1. OG, Raum 12      | papyrusNew | mono a4
    Anwalt 4           | 1. OG, Raum 14      | papyrusNew | mono a4
    Notariat           | 1. OG, Raum 16      | ostrakon   | duplex mono a4
    Notariat Farbe     | 1. OG, Raum 16      | ostrakon   | color a4
    Buchhaltung        | 2. OG, Raum 21      | papyrusOld | duplex mono a4
    Archiv             | UG                  | papyrusOld | mono
    Besprechung 1      | EG, Raum 01         | v4         | color
    Besprechung 2      | 2. OG, Raum 24      | v4         | color
    Etiketten Akten    | EG, Raum 03         | label      |
    Fristenfax         | EG, Raum 03         | office     |`,
};

export const school: DemoClient = {
  name: "Grundschule am Mühlbach",
  notes: "Hausmeister: Herr Kowalczyk. Ferien beachten: dann sind die Verteilerschränke stromlos",
  network: "10.30.8",
  printers: `
    Sekretariat        | Haus A, EG          | quill:Quillmark C4510 PCL 6 | duplex color a4 snmp default
    Rektorat           | Haus A, EG          | papyrusOld | mono a4
    Konrektorat        | Haus A, EG          | papyrusOld | mono a4
    Lehrerzimmer 1     | Haus A, 1. OG       | quill:Quillmark C6010 PCL 6 | duplex a4 snmp
    Lehrerzimmer 2     | Haus A, 1. OG       | quill:Quillmark C6010 PCL 6 | duplex a4 snmp .14
    Kopierraum         | Haus A, EG          | quill:Quillmark C6010 PCL 6 | duplex mono a4 snmp
    Computerraum       | Haus B, Raum 101    | ostrakon   | duplex mono a4 shared
    Bücherei           | Haus B, EG          | papyrusOld | mono a4
    Klasse 1a          | Haus A, Raum 11     | papyrusOld | mono a4
    Klasse 1b          | Haus A, Raum 12     | papyrusOld | mono a4
    Klasse 2a          | Haus A, Raum 13     | papyrusOld | mono a4
    Klasse 2b          | Haus A, Raum 14     | papyrusOld | mono a4
    Klasse 3a          | Haus B, Raum 102    | papyrusOld | mono a4
    Klasse 3b          | Haus B, Raum 103    | papyrusOld | mono a4
    Klasse 4a          | Haus B, Raum 104    | papyrusOld | mono a4
    Klasse 4b          | Haus B, Raum 105    | papyrusOld | mono a4
    Förderraum         | Haus B, Raum 106    | ostrakon   | color a4
    Schulsozialarbeit  | Haus B, Raum 107    | ostrakon   | mono a4
    Werkraum           | Haus C              | papyrusOld | mono
    Musiksaal          | Haus C              | papyrusOld | mono
    Turnhalle          | Haus D              | papyrusOld | mono
    Mensa              | Haus D              | office     | mono
    Hort 1             | Haus C, EG          | v4         | color a4
    Hort 2             | Haus C, 1. OG       | v4         | color a4
    Hausmeister        | Haus A, UG          | unsigned   | lpr
    Elternbeirat       | Haus A, Raum 02     | -          |
    Vorbereitung       | Haus A, Raum 15     | ostrakon   | duplex mono a4`,
};

export const carpenter: DemoClient = {
  name: "Menuiserie Delorme & Fils",
  notes: "Atelier fermé en août. Demander Margaux pour l’accès au local technique",
  network: "192.168.1",
  printers: `
    Accueil            | Rez-de-chaussée     | ostrakon   | color a4 default
    Bureau de Margaux  | Rez-de-chaussée     | ostrakon   | duplex color a4
    Devis et factures  | Rez-de-chaussée     | papyrusNew | duplex mono a4
    Atelier            | Bâtiment 2          | papyrusNew | mono a4
    Débit              | Bâtiment 2          | papyrusNew | mono a4
    Plans A3           | Bureau d’études     | quill:Quillmark C3510 PCL 6 | color a3
    Étiquettes stock   | Dépôt               | label      |
    Expéditions        | Quai                | papyrusNew | mono a4
    Salle de réunion   | 1er étage           | -          |`,
};
