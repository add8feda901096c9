// Stands for a browser in which a person signs in: opens an address of the simulated sign-in, then those that it names.
const [, , address = ""] = process.argv;
/** @type {{ readonly visits?: readonly string[] }} */
const { visits = [] } = JSON.parse(await (await fetch(address)).text());
for (const visit of visits) await fetch(visit).catch(() => {});
