import process from 'node:process';
import { ofProcess, runProgram } from 'slipway/kube';
import { helloController } from './controller.ts';
import { Greeting } from './greeting.ts';

await runProgram({
  name: 'hello-controller',
  ...ofProcess(process),
  kinds: [Greeting],
  setup: (manager) => manager.add(helloController()),
});
