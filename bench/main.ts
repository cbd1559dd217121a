// Measures our programs beside the ones they replace, in one run, as ratios.
//   bench apiserver [--only TEXT] [--quick]
import { parseArgs } from 'node:util';
import { benchApiServer } from './apiserver/bench.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { only: { type: 'string' }, quick: { type: 'boolean', default: false } },
});
const [what] = positionals;
if (what !== 'apiserver') {
  process.stderr.write(`unknown bench ${JSON.stringify(what ?? '')}; there is: apiserver\n`);
  process.exit(2);
}
await benchApiServer({ only: values.only, isQuick: values.quick });
