import { sharingThisPackage } from '../../src/app/provider/own-package.ts';

// The tests of the example as they stand: a project that `slipway init` made has the same (test/e2e/init.test.ts).
sharingThisPackage();
await import('../../examples/acme-cloud/test/provider.test.ts');
