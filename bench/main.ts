// Measures our programs beside the ones they replace, in one run, as ratios.
//   bench apiserver|runtime|lab|ccm|cloud-operator [--only TEXT] [--quick] [--json FILE]
import { parseArgs } from 'node:util';
import { messageOf } from '../src/base/errors.ts';
import { benchApiServer } from './apiserver/bench.ts';
import { benchCloud } from './ccm/bench.ts';
import { benchCloudOperator } from './cloud-operator/bench.ts';
import { benchLab } from './lab/bench.ts';
import { benchRuntime } from './runtime/bench.ts';

const BENCHES = new Map([
  ['apiserver', benchApiServer],
  ['runtime', benchRuntime],
  ['lab', benchLab],
  ['ccm', benchCloud],
  ['cloud-operator', benchCloudOperator],
]);
const USAGE = `usage: npm run bench -- ${[...BENCHES.keys()].join('|')} [--only TEXT] [--quick] [--json FILE]`;

const { values, positionals } = readArguments();
const [what = ''] = positionals;
const { only, quick: isQuick, json, help: isHelp } = values;
if (isHelp) {
  process.stdout.write(`${USAGE}\n`);
  process.exit(0);
}
const bench = BENCHES.get(what) ?? refuse(what === '' ? 'which bench?' : `unknown bench ${JSON.stringify(what)}`);
if (json !== undefined && bench !== benchLab) refuse('--json is for the bench lab only');
await bench({ only, isQuick, ...(json !== undefined && { json }) });

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        only: { type: 'string' },
        quick: { type: 'boolean', default: false },
        json: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    });
  } catch (thrown) {
    return refuse(messageOf(thrown));
  }
}

function refuse(problem: string): never {
  process.stderr.write(`bench: ${problem}\n${USAGE}\n`);
  process.exit(2);
}
