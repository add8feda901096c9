import { ticketCommand, ticketLimitBytes } from "../../domain/printers/print-ticket.ts";
import { type FormState, textArea } from "../form.ts";
import { type Html, html } from "../html.ts";
import { bytes } from "../text.ts";

const name = "print_ticket";

/** Where a PrintTicket is pasted, or read from a file where scripts run; and where one comes from. */
export function ticketField(form: FormState, label: string): Html {
  return html`
    ${textArea(form, {
      name,
      label,
      hint: html`Preferences that have no field here (trays, stapling, punching, user codes), as XML of up to ${bytes(ticketLimitBytes)}.
        What is chosen above goes over it.`,
      attributes: html`spellcheck="false" autocapitalize="off"`,
    })}
    <div class="field" data-file-text="f-${name}" hidden>
      <label for="f-${name}-file">${label} from a file</label>
      <input id="f-${name}-file" type="file" accept=".xml,.txt,text/xml,application/xml">
    </div>
    <details class="more ticket-source"><summary>Get one from a PC that prints as wished</summary>
      <ol>
        <li>Give a queue with the same driver there what you wish: <em>Printer properties</em>, <em>Advanced</em>, <em>Printing Defaults</em>.</li>
        <li>Paste this command into <em>Windows PowerShell</em>, and choose the queue in the window that opens.
          <div class="command"><button type="button" class="copy" data-copy="ticket-command" hidden>Copy</button>
            <pre><code id="ticket-command">${ticketCommand}</code></pre></div></li>
        <li>Paste what it copied above. Or end it with <code>| Set-Content ticket.xml -Encoding UTF8</code> instead of
          <code>| Set-Clipboard</code>, and choose that file.</li>
      </ol></details>`;
}

/** What a printer's page says of its ticket. */
export function ticketSummary(ticket: string): Html {
  return html`${bytes(Buffer.byteLength(ticket))} of XML. <span class="soft">install.ps1 carries it: its page says whether Intune’s script
    installer still takes it.</span>`;
}
