import { enableCompileCache } from 'node:module';

// Before anything large is loaded: the second start of a release finds its code compiled, which halves the time to load it.
enableCompileCache();

const [{ hostOfProcess, interruptionOfProcess }, { VERBS }, { CommandLine }, { SystemClock }] = await Promise.all([
  import('../app/host.ts'),
  import('../app/verbs.ts'),
  import('./command-line.ts'),
  import('../base/clock.ts'),
]);

await new CommandLine(hostOfProcess(), VERBS, interruptionOfProcess(new SystemClock())).run();
