import { hostOfProcess, interruptionOfProcess } from '../app/host.ts';
import { VERBS } from '../app/verbs.ts';
import { CommandLine } from './command-line.ts';

await new CommandLine(hostOfProcess(), VERBS, interruptionOfProcess()).run();
