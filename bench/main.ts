// Measures our programs beside the ones they replace, in one run, as ratios.
//   bench apiserver|runtime|lab|ccm|cloud-operator [--only TEXT] [--quick] [--json FILE]
import { parseArgs } from 'node:util';
import { benchApiServer } from './apiserver/bench.ts';
import { benchCloud } from './ccm/bench.ts';
import { benchCloudOperator } from './cloud-operator/bench.ts';
import { benchLab } from './lab/bench.ts';
import { benchRuntime } from './runtime/bench.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: 'string' },
    quick: { type: 'boolean', default: false },
    json: { type: 'string' },
  },
});
const [what = ''] = positionals;
const { only, quick: isQuick, json } = values;
const BENCHES = new Map([
  ['apiserver', benchApiServer],
  ['runtime', benchRuntime],
  ['lab', benchLab],
  ['ccm', benchCloud],
  ['cloud-operator', benchCloudOperator],
]);
const bench = BENCHES.get(what);
if (bench === undefined) {
  process.stderr.write(`unknown bench ${JSON.stringify(what)}; there are: ${[...BENCHES.keys()].join(', ')}\n`);
  process.exit(2);
}
if (json !== undefined && bench !== benchLab) {
  process.stderr.write('--json is for the bench lab only\n');
  process.exit(2);
}
await bench({ only, isQuick, ...(json !== undefined && { json }) });
