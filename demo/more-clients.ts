import type { DemoClient } from "./clients.ts";

export const accountants: DemoClient = {
  name: "Gestoría Villanueva",
  notes: "Campaña de la renta: de abril a junio no se toca nada",
  network: "172.16.4",
  printers: `
    Recepción          | Planta baja         | ostrakon   | duplex mono a4 default
    Fiscal 1           | Planta 1            | ostrakon   | duplex mono a4
    Fiscal 2           | Planta 1            | ostrakon   | duplex mono a4
    Laboral            | Planta 1            | ostrakon   | duplex mono a4
    Contabilidad       | Planta 1            | ostrakon   | duplex mono a4
    Contabilidad color | Planta 1            | quill:Quillmark C2510 PCL 6 | color a4
    Tráfico            | Planta baja         | papyrusOld | mono a4
    Despacho Sra. Villanueva | Planta 2      | papyrusNew | mono a4
    Sala de juntas     | Planta 2            | v4         | color
    Archivo            | Sótano              | papyrusOld | mono
    Copistería         | Planta 1, pasillo   | quill:Quillmark C4500 PS | duplex a4 snmp replaces
    Escáner y fax      | Planta baja         | -          |
    Nóminas            | Planta 1            | papyrusNew | duplex mono a4`,
};

export const bakery: DemoClient = {
  name: "Bakkerij Van den Akker",
  notes: "Bellen na 11 uur: daarvoor staat iedereen in de bakkerij",
  network: "192.168.178",
  printers: `
    Kantoor            | Boven de winkel     | papyrusNew | duplex color a4 default
    Winkel             | Achter de toonbank  | papyrusNew | mono a4
    Bakkerij bestellingen | Bakkerij         | papyrusNew | mono a5
    Expeditie          | Laadperron          | papyrusNew | mono a4
    Kassarol           | Winkel              | unsigned   |
    Filiaal Dorpsstraat | Dorpsstraat 14     | v4         | color
    Filiaal Station    | Stationsplein 2     | v4         | color
    Magazijn           | Achterhuis          | -          |`,
};

export const auditors: DemoClient = {
  name: "مكتب النور للمحاسبة",
  notes: "جهة الاتصال: السيدة ليلى، من الأحد إلى الخميس",
  network: "10.77.0",
  printers: `
    الاستقبال          | الطابق الأرضي        | papyrusNew | duplex mono a4 default
    المدير             | الطابق الثاني        | ostrakon   | color a4
    المحاسبة 1         | الطابق الأول         | papyrusNew | duplex mono a4
    المحاسبة 2         | الطابق الأول         | papyrusNew | duplex mono a4
    التدقيق            | الطابق الأول         | papyrusNew | duplex mono a4
    الرواتب            | الطابق الأول         | ostrakon   | mono a4
    الأرشيف            | القبو               | papyrusOld | mono
    غرفة الاجتماعات    | الطابق الثاني        | ostrakon   | color a4
    Reception colour   | الطابق الأرضي        | quill      | color a4
    Manager A3         | الطابق الثاني        | quill      | color a3
    Audit team         | الطابق الأول         | quill      | duplex a4
    Fax                | الطابق الأرضي        | -          |`,
};

export const clinic: DemoClient = {
  name: "Harbour Street Veterinary Clinic",
  notes: "Out of hours: 24-hour nurse on site. Labels must never be down: drug dispensing depends on them",
  network: "10.5.60",
  printers: `
    Reception 1        | Ground floor        | papyrusNew | duplex mono a4 default
    Reception 2        | Ground floor        | papyrusNew | mono a4
    Consult room 1     | Ground floor        | ostrakon   | mono a4
    Consult room 2     | Ground floor        | ostrakon   | mono a4
    Consult room 3     | Ground floor        | ostrakon   | mono a4
    Dispensary labels  | Ground floor        | dealer:Foliant F-28 | snmp
    Imaging            | First floor         | ostrakon   | color a4
    Theatre            | First floor         | papyrusNew | mono a4
    Nurses’ station    | First floor         | papyrusNew | mono a4 replaces
    Laboratory         | First floor         | papyrusOld | mono a4
    Practice manager   | First floor         | quill:Quillmark C4510 PCL 6 | duplex color a4 snmp
    Insurance claims   | First floor         | dealer:Foliant F-36 | duplex mono a4
    Cattery            | Annexe              | papyrusOld | mono
    Boarding desk      | Annexe              | papyrusNew | mono a4`,
};

/** Printers without a client: replacements and repairs in the workshop. */
export const workshop: Pick<DemoClient, "network" | "printers"> = {
  network: "192.168.99",
  printers: `
    Loan printer 1     | Workshop, shelf A   | papyrusNew | mono
    Loan printer 2     | Workshop, shelf A   | papyrusNew | mono
    Loan printer 3     | Workshop, shelf A   | papyrusOld | mono
    Loan colour        | Workshop, shelf B   | quill:Quillmark C2200 PCL 6 | color
    Test bench         | Workshop            | ostrakon   | snmp
    Repair return 4471 | Workshop, shelf C   | office     |
    Repair return 4480 | Workshop, shelf C   | ostrakon   |
    Kalamos plotter    | Workshop            | -          |`,
};
