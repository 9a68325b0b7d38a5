// Compiles the contracts beside it and prints what they come to: node compile.js PATH-TO-solc
const fs = require("fs");
const path = require("path");
const solc = require(path.resolve(process.argv[2]));
const names = ["Purse", "Dollar"];
const sources = Object.fromEntries(
  names.map((name) => [`${name}.sol`, { content: fs.readFileSync(path.join(__dirname, `${name}.sol`), "utf8") }]),
);
const settings = {
  evmVersion: "paris",
  optimizer: { enabled: true, runs: 10000 },
  metadata: { bytecodeHash: "none", appendCBOR: false },
  outputSelection: { "*": { "*": ["evm.bytecode.object"] } },
};
const told = JSON.parse(solc.compile(JSON.stringify({ language: "Solidity", sources, settings })));
const wrong = (told.errors || []).filter((one) => one.severity !== "info");
if (wrong.length > 0) {
  console.error(wrong.map((one) => one.formattedMessage).join("\n"));
  process.exit(1);
}
for (const name of names) console.log(`${name} ${told.contracts[`${name}.sol`][name].evm.bytecode.object}`);
