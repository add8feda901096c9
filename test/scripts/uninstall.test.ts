import { describe } from "node:test";
import { deployable, type Machine, withoutPowerShell } from "../support/powershell/powershell.ts";
import { papyrusDriver, queue, tcpPort } from "../support/powershell/simulated-machine.ts";
import { storiesOf, tellStories } from "../support/powershell/transcripts.ts";

const withJobs = (...Jobs: unknown[]): Machine => ({
  Queues: [{ ...queue("Office", "LPT1:"), Jobs }],
  Drivers: [papyrusDriver()],
});
const inState = (JobStatus: unknown, Minutes: number, Id = 1) => ({ Id, JobStatus, Minutes });
const twoDays = 2 * 24 * 60;

const stuckJobs: Readonly<Record<string, Record<string, unknown>>> = {
  "an error": inState("Error, Printing", 5),
  "an offline printer, as a number": inState(0x20, 5),
  "a deletion that hangs": inState("Deleting", 5),
  "an age of two days": inState("Normal", twoDays),
  "a pause of two days": inState("Paused", twoDays),
};
const keep = deployable({ keep_driver: "on" });
/** A port and a driver that Windows does not give back by itself. */
const lingering = { LingerMs: 10 * 60_000, ListLeaving: true };

describe("uninstalling on a simulated Windows", { skip: withoutPowerShell }, () => {
  tellStories("uninstall", {
    "uninstall removes everything that install added, and a second run finds nothing": [
      "install, uninstall, uninstall, detect",
    ],
    "uninstall waits for busy ports and drivers": [{ LingerMs: 4000 }, "install, uninstall"],
    "uninstall restarts the spooler once, if ports and drivers stay busy": [lingering, "install, uninstall"],
    "a spooler that hangs while it stops is ended after a minute and started again": [
      lingering,
      "install",
      { SpoolerHangs: true },
      "uninstall",
    ],
    "services that depend on the spooler start again, even if the spooler does not": [
      lingering,
      "install",
      {
        SpoolerNeverStarts: true,
        Dependents: [
          { Name: "Fax", Status: "Running" },
          { Name: "Other", Status: "Stopped" },
        ],
      },
      "uninstall",
    ],
    "a queue that Windows already deletes ends no run": ["install", { QueuesLeave: true }, "uninstall"],
    "a driver that other queues use stays, and so does a port that install did not add": [
      { Ports: [tcpPort("IP_10.0.0.9")], Queues: [queue("Theirs", "LPT1:")], Drivers: [papyrusDriver()] },
      "install, uninstall",
    ],
    "keep_driver keeps the driver": [keep, "install, uninstall"],
    "a driver stays while an interrupted exchange has queues that need it back": [
      "install",
      { Registry: { "HKLM:\\SOFTWARE\\Platen\\Exchange": { Driver: "Papyrus 100 PCL6" } } },
      "uninstall",
    ],
    "uninstall waits for open jobs": [{ ...withJobs(1, 2), JobsDoneAt: 20_000 }, "uninstall"],
    "uninstall ends with 1618 if jobs stay open, and -Force removes the queue anyway": [
      withJobs(1, 2),
      "uninstall, uninstall -Force",
    ],
    ...storiesOf(
      stuckJobs,
      (why) => `a job with ${why} is deleted after a minute, with a remark, and the queue goes`,
      (job) => [withJobs(job), "uninstall"],
    ),
    "a job that waits behind a stuck one keeps the queue, and the stuck one is deleted": [
      withJobs(inState("Error", 90), inState("Normal", 600, 2)),
      "uninstall",
    ],
    "printed documents that the queue keeps neither count nor wait, and go without a remark": [
      withJobs(...["Printed", "Printed, Retained", "Complete"].map((state, id) => inState(state, 9999, id))),
      "uninstall",
    ],
    "a retained job that still prints or waits keeps the queue": [
      withJobs(
        ...["Printing, Retained", "Spooling, Retained", 8192 + 2048].map((state, id) =>
          inState(state, 600, id),
        ),
      ),
      "uninstall",
    ],
    "jobs that Windows refuses to delete do not count as deleted": [
      { ...withJobs(inState("Error", 5)), JobsRefused: true },
      "uninstall",
    ],
    "jobs that Windows does not delete leave the queue until they are done": [
      { ...withJobs(inState("Deleting", 5)), JobsStay: true, ListLeaving: true },
      "uninstall",
    ],
  });
});
