// Measures our programs beside the ones they replace, in one run, as ratios.
//   bench apiserver|runtime|lab|ccm|cloud-operator|agent [--only TEXT] [--quick] [--json FILE] [--hosts N,…]
import { parseArgs } from 'node:util';
import { messageOf } from '../src/base/errors.ts';
import { benchAgent } from './agent/bench.ts';
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
  ['agent', benchAgent],
]);
const USAGE = `usage: npm run bench -- ${[...BENCHES.keys()].join('|')} [--only TEXT] [--quick] [--json FILE] [--hosts N,…]`;

const { values, positionals } = readArguments();
const [what = ''] = positionals;
const { only, quick: isQuick, json, hosts: sizes, help: isHelp } = values;
if (isHelp) {
  process.stdout.write(`${USAGE}\n`);
  process.exit(0);
}
const bench = BENCHES.get(what) ?? refuse(what === '' ? 'which bench?' : `unknown bench ${JSON.stringify(what)}`);
if (json !== undefined && bench !== benchLab) refuse('--json is for the bench lab only');
if (sizes !== undefined && bench !== benchAgent) refuse('--hosts is for the bench agent only');
const hosts = sizes?.split(',').map(hostCount);
await bench({ only, isQuick, ...(json !== undefined && { json }), ...(hosts !== undefined && { hosts }) });

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        only: { type: 'string' },
        quick: { type: 'boolean', default: false },
        json: { type: 'string' },
        hosts: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    });
  } catch (thrown) {
    return refuse(messageOf(thrown));
  }
}

/** Three of them are the control plane. */
function hostCount(word: string): number {
  const count = Number(word);
  if (Number.isInteger(count) && count > 3) return count;
  return refuse(`--hosts wants numbers from 4 on, such as 5,50; got ${JSON.stringify(word)}`);
}

function refuse(problem: string): never {
  process.stderr.write(`bench: ${problem}\n${USAGE}\n`);
  process.exit(2);
}
