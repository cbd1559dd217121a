import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import {
  configMapText,
  imagesText,
  infrastructureText,
  secretText,
} from '../../../test/support/bootstrap-input.ts';
import { filesIn, projectWith, type Ran, render, renderWith } from '../../../test/support/render-verb.ts';
import { scratchDirectory } from '../../../test/support/scratch.ts';
import type { Pod } from '../../api/generated/core-v1.ts';
import { parseYaml } from '../../object/yaml.ts';

const VALUE = 'hunter2';
const INPUT = {
  infra: '--cluster-infrastructure-file=infra.yaml',
  images: '--images-file=images.yaml',
  config: '--cloud-config-file=config.yaml',
  credentials: '--credentials-file=secret.yaml',
} as const;
const BOTH = [INPUT.infra, INPUT.images];
const OUT = '--dest-dir=out';

const EXTERNAL = { type: 'External', external: { cloudControllerManager: { state: 'External' } } } as const;
const NAMED = { name: 'cloud-provider-config', key: 'config' };

/** A folder with what an installer has. */
async function installer(files: Readonly<Record<string, string>>) {
  const folder = await scratchDirectory();
  await writeAll(folder.path, { 'images.yaml': imagesText(), ...files });
  return folder;
}

/** The project of a partner, with what an installer has for platform External. */
async function external(files: Readonly<Record<string, string>> = {}) {
  const project = await projectWith();
  await writeAll(project.path, {
    'infra.yaml': infrastructureText(EXTERNAL, NAMED),
    'images.yaml': imagesText({ cloudControllerManagerAcme: 'example.com/acme:7' }),
    'config.yaml': configMapText('kube-cloud-config', { config: 'zone = a\n' }),
    'secret.yaml': secretText('cloud-credentials', { stringData: { ACME_TOKEN: VALUE } }),
    ...files,
  });
  return project;
}

async function writeAll(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
}

const EVERYTHING = ['bootstrap', '--provider=provider.ts', ...Object.values(INPUT)];

const saidIn = ({ text, json, hints }: Ran): string => [text, JSON.stringify(json), ...hints].join('\n');

describe('slipway render bootstrap, with what an installer has', () => {
  it('operator/case 20: writes the static pod of AWS, and an empty folder for configuration', async () => {
    await using folder = await installer({ 'infra.yaml': infrastructureText({ type: 'AWS' }) });
    const { code } = await render(folder.path, 'bootstrap', ...BOTH, OUT);
    assert.equal(code, 0);
    const out = join(folder.path, 'out');
    assert.deepEqual(await filesIn(out), ['bootstrap/aws-cloud-controller-manager-pod.yaml']);
    assert.deepEqual((await readdir(out)).toSorted(), ['bootstrap', 'config']);
    const text = await readFile(join(out, 'bootstrap/aws-cloud-controller-manager-pod.yaml'), 'utf8');
    assert.match(text, /^# Written by slipway \S+: render bootstrap for openshift, input sha256:/);
    assert.equal((parseYaml(text) as Pod).metadata.namespace, 'kube-system');
  });

  it('operator/case 20: writes two empty folders for BareMetal, and finds them as they are', async () => {
    await using folder = await installer({ 'infra.yaml': infrastructureText({ type: 'BareMetal' }) });
    const { code, hints } = await render(folder.path, 'bootstrap', ...BOTH, OUT);
    assert.equal(code, 0);
    assert.match(hints.join(), /no static pod/);
    assert.deepEqual(await filesIn(join(folder.path, 'out')), []);
    assert.deepEqual((await readdir(join(folder.path, 'out'))).toSorted(), ['bootstrap', 'config']);
    assert.equal((await render(folder.path, 'bootstrap', ...BOTH, OUT, '--check')).code, 0);
  });

  it('operator/R87: writes the configuration of Azure as it is', async () => {
    await using folder = await installer({
      'infra.yaml': infrastructureText({ type: 'Azure' }, NAMED),
      'config.yaml': configMapText('kube-cloud-config', { 'cloud.conf': '{"cloud": "AzurePublicCloud"}' }),
    });
    await render(folder.path, 'bootstrap', ...BOTH, INPUT.config, '--out=out');
    assert.deepEqual(await filesIn(join(folder.path, 'out')), [
      'bootstrap/azure-cloud-controller-manager-pod.yaml',
      'config/cloud.conf',
    ]);
    const text = await readFile(join(folder.path, 'out/config/cloud.conf'), 'utf8');
    assert.equal(text, '{"cloud": "AzurePublicCloud"}');
  });

  it('--dest-dir is --out', async () => {
    await using folder = await installer({ 'infra.yaml': infrastructureText({ type: 'AWS' }) });
    await render(folder.path, 'bootstrap', ...BOTH, '--dest-dir=a');
    await render(folder.path, 'bootstrap', ...BOTH, '--out=b');
    const [name = ''] = await filesIn(join(folder.path, 'a'));
    const texts = ['a', 'b'].map((out) => readFile(join(folder.path, out, name), 'utf8'));
    assert.equal(await texts[0], await texts[1]);
  });

  it('--dest-dir and --out cannot be two folders', async () => {
    await using folder = await installer({ 'infra.yaml': infrastructureText({ type: 'AWS' }) });
    const message = /^--out and --dest-dir are the same, and name two folders/;
    await assert.rejects(render(folder.path, 'bootstrap', ...BOTH, '--dest-dir=a', '--out=b'), {
      exitCode: 2,
      message,
    });
    assert.equal((await render(folder.path, 'bootstrap', ...BOTH, '--dest-dir=a', '--out=./a')).code, 0);
  });

  it('without a folder it prints the pod, and says what is left out', async () => {
    await using project = await external();
    const ran = await render(project.path, ...EVERYTHING);
    assert.match(ran.text, /^kind: Pod$/m);
    assert.match(ran.hints.join('\n'), /^config\/cloud\.conf is for a folder only: name one with --dest-dir$/m);
    assert.match(ran.hints.join('\n'), /^secrets\/cloud-credentials\/ACME_TOKEN is for a folder only/m);
    assert.doesNotMatch(saidIn(ran), new RegExp(VALUE));
  });

  describe('for a provider of a partner', () => {
    it('writes pod, configuration and credentials, these for nobody else, and no value anywhere else', async () => {
      await using project = await external();
      const ran = await render(project.path, ...EVERYTHING, OUT);
      const out = join(project.path, 'out');
      assert.deepEqual(await filesIn(out), [
        'bootstrap/acme-cloud-controller-manager-pod.yaml',
        'config/cloud.conf',
        'secrets/cloud-credentials/ACME_TOKEN',
      ]);
      const pod = await readFile(join(out, 'bootstrap/acme-cloud-controller-manager-pod.yaml'), 'utf8');
      const [container] = (parseYaml(pod) as Pod).spec?.containers ?? [];
      assert.equal(container?.image, 'example.com/acme:7');
      assert.ok(container?.args?.includes('--credentials-dir=/etc/kubernetes/secrets/cloud-credentials'));
      assert.ok(container?.args?.includes('--cloud-config=/etc/kubernetes/configs/cloud.conf'));
      const secret = join(out, 'secrets/cloud-credentials/ACME_TOKEN');
      assert.equal(await readFile(secret, 'utf8'), VALUE);
      assert.equal((await stat(secret)).mode & 0o777, 0o600);
      assert.doesNotMatch(saidIn(ran) + pod, new RegExp(VALUE));
    });

    it('the folders of credentials are for nobody else, also where they are there already', async () => {
      await using project = await external();
      const folders = ['out/secrets', 'out/secrets/cloud-credentials'].map((name) => join(project.path, name));
      const modes = async () => {
        await render(project.path, ...EVERYTHING, OUT);
        return Promise.all(folders.map(async (name) => (await stat(name)).mode & 0o777));
      };
      assert.deepEqual(await modes(), [0o700, 0o700]);
      for (const name of folders) await chmod(name, 0o755);
      assert.deepEqual(await modes(), [0o700, 0o700]);
      assert.equal((await stat(join(project.path, 'out'))).mode & 0o077, 0o077 & ~process.umask());
    });

    it('what the how-to page writes with credentials is not for Git', async () => {
      const page = await readFile('docs/how-to/cloud-operator.md', 'utf8');
      const ignored = (await readFile('.gitignore', 'utf8')).split('\n');
      const folders = [...page.matchAll(/--(?:dest-dir|credentials-file) ([\w-]+)/g)].map(
        ([, name]) => `${name}/`,
      );
      assert.deepEqual(folders, ['bootstrap-output/', 'bootstrap-input/']);
      for (const folder of folders) assert.ok(ignored.includes(folder), folder);
    });

    it('the header is the same whatever the credentials are', async () => {
      await using project = await external();
      const header = async () => (await render(project.path, ...EVERYTHING)).text.split('\n', 1)[0];
      const before = await header();
      await writeAll(project.path, {
        'secret.yaml': secretText('cloud-credentials', { stringData: { ACME_TOKEN: 'x' } }),
      });
      assert.equal(await header(), before);
    });

    it('writes over what it wrote, with the mode of a secret, and tells of what is left', async () => {
      await using project = await external();
      await render(project.path, ...EVERYTHING, OUT);
      const secret = join(project.path, 'out/secrets/cloud-credentials/ACME_TOKEN');
      await chmod(secret, 0o644);
      await writeAll(project.path, {
        'config.yaml': configMapText('kube-cloud-config', { config: 'zone = b\n' }),
        'secret.yaml': secretText('cloud-credentials', { stringData: { ACME_TOKEN: 'new' } }),
      });
      assert.equal((await render(project.path, ...EVERYTHING, OUT, '--check')).code, 1);
      await render(project.path, ...EVERYTHING, OUT);
      assert.equal(await readFile(join(project.path, 'out/config/cloud.conf'), 'utf8'), 'zone = b\n');
      assert.equal(await readFile(secret, 'utf8'), 'new');
      assert.equal((await stat(secret)).mode & 0o777, 0o600);
      assert.equal((await render(project.path, ...EVERYTHING, OUT, '--check')).code, 0);
    });

    it('--check tells of credentials that others may read', async () => {
      await using project = await external();
      await render(project.path, ...EVERYTHING, OUT);
      const path = 'secrets/cloud-credentials/ACME_TOKEN';
      await chmod(join(project.path, 'out', path), 0o640);
      const { code, json } = await render(project.path, ...EVERYTHING, OUT, '--check');
      assert.equal(code, 1);
      const { drift } = json as { readonly drift: unknown };
      assert.deepEqual(drift, [{ path, problem: 'is not for its owner alone' }]);
    });

    it('names the keys that the definition lists and the Secret lacks', async () => {
      await using project = await external({
        'secret.yaml': secretText('cloud-credentials', { stringData: { token: VALUE } }),
      });
      const { hints } = await render(project.path, ...EVERYTHING, OUT);
      assert.match(hints.join('\n'), /^Secret cloud-credentials lacks ACME_TOKEN, which the provider reads/m);
    });

    it('tells of configuration and credentials that are no longer rendered', async () => {
      await using project = await external();
      await render(project.path, ...EVERYTHING, OUT);
      await writeAll(project.path, {
        'infra.yaml': infrastructureText(EXTERNAL),
        'secret.yaml': secretText('cloud-credentials', { stringData: { OTHER: 'x' } }),
      });
      const { hints } = await render(project.path, ...EVERYTHING, OUT);
      const left = ['config/cloud.conf', 'secrets/cloud-credentials/ACME_TOKEN'];
      for (const path of left)
        assert.ok(
          hints.some((hint) => hint.startsWith(`out/${path} is no longer rendered; it stays`)),
          path,
        );
      const secret = `out/${left[1]}`;
      const said = `${secret} is no longer rendered; it stays, and holds a credential: remove it with: rm ${secret}`;
      assert.ok(hints.includes(said), hints.join('\n'));
      const { code, json } = await render(project.path, ...EVERYTHING, OUT, '--check');
      assert.equal(code, 1);
      const { drift } = json as { readonly drift: readonly { readonly path: string; readonly problem: string }[] };
      assert.deepEqual(
        drift,
        left.map((path) => ({ path, problem: 'is no longer rendered' })),
      );
    });

    it('refuses a Secret that nobody reads, without a word of what is in it', async () => {
      await using project = await external({ 'secret.yaml': `stringData: {a: *${VALUE}}\n` });
      await assert.rejects(render(project.path, ...EVERYTHING, OUT), (error: Error) => {
        assert.match(error.message, /^secret\.yaml: is not valid YAML/);
        assert.doesNotMatch(error.message, new RegExp(VALUE));
        return true;
      });
    });
  });

  describe('what cannot be used', () => {
    it('all files that cannot be read are in one message', async () => {
      await using folder = await installer({ 'images.yaml': ' \n' });
      await mkdir(join(folder.path, 'config.yaml'));
      const words = ['bootstrap', ...Object.values(INPUT), OUT];
      await assert.rejects(render(folder.path, ...words), (error: Error & { readonly exitCode?: number }) => {
        assert.equal(error.exitCode, 2);
        const lines = error.message.split('\n');
        assert.match(lines[0] ?? '', /^error reading --cluster-infrastructure-file: no such file: infra\.yaml$/);
        assert.equal(lines[1], 'error reading --images-file: images.yaml is empty');
        assert.equal(lines[2], 'error reading --cloud-config-file: config.yaml is not a regular file');
        assert.match(lines[3] ?? '', /^error reading --credentials-file: no such file: secret\.yaml$/);
        return true;
      });
      assert.ok(!existsSync(join(folder.path, 'out')));
    });

    it('one of the flags asks for those without which nothing can be rendered', async () => {
      await using folder = await installer({});
      await assert.rejects(render(folder.path, 'bootstrap', INPUT.images), {
        exitCode: 2,
        message: 'error reading --cluster-infrastructure-file: it is missing; name the file',
      });
    });

    for (const [flag, value] of [
      ['image', 'example.com/other:9'],
      ['namespace', 'elsewhere'],
      ['topology', 'sno'],
      ['secure-port', '0'],
      ['cloud-config', 'secret'],
      ['cluster-name', 'east'],
      ['use-service-account-credentials', 'true'],
    ] as const) {
      it(`--${flag}, which what an installer has decides`, async () => {
        await using folder = await installer({ 'infra.yaml': infrastructureText({ type: 'AWS' }) });
        await assert.rejects(render(folder.path, 'bootstrap', ...BOTH, `--${flag}=${value}`), {
          exitCode: 2,
          message: `--${flag} is of bootstrap without --cluster-infrastructure-file and --images-file`,
        });
      });
    }

    it('but not the image that a variable has for every verb', async () => {
      await using folder = await installer({ 'infra.yaml': infrastructureText({ type: 'AWS' }) });
      const env = { SLIPWAY_IMAGE: 'example.com/other:9' };
      const { code, text } = await renderWith(env, folder.path, ['bootstrap', ...BOTH]);
      assert.equal(code, 0);
      assert.doesNotMatch(text, /other:9/);
    });

    const broken = [
      {
        name: 'R11',
        infra: infrastructureText(undefined),
        want: /^infra\.yaml: platform status is not populated/,
      },
      { name: 'D2', infra: infrastructureText({ type: 'External' }), want: /^infra\.yaml: .* --provider$/ },
      {
        name: 'R85',
        infra: infrastructureText({ type: 'AWS' }, NAMED),
        want: /give its ConfigMap with --cloud-conf/,
      },
    ];
    for (const { name, infra, want } of broken) {
      it(`operator/${name}: ends with exit code 2 and writes nothing`, async () => {
        await using folder = await installer({ 'infra.yaml': infra });
        await assert.rejects(render(folder.path, 'bootstrap', ...BOTH, OUT), { exitCode: 2, message: want });
        assert.ok(!existsSync(join(folder.path, 'out')));
      });
    }

    it('an image that is none, by its key; a key that nobody reads is told of', async () => {
      const images = { cloudControllerManagerAWS: 'Not An Image' };
      await using folder = await installer({
        'infra.yaml': infrastructureText({ type: 'AWS' }),
        'images.yaml': imagesText(images),
      });
      await assert.rejects(render(folder.path, 'bootstrap', ...BOTH), {
        exitCode: 2,
        message: /^images\.yaml: images\.json: cloudControllerManagerAWS: "Not An Image" is no name of an image/,
      });
      const other = { cloudControllerManagerAWS: 'aws:1', cloudControlerManagerGCP: 'gcp:1', x: 'y' };
      await writeAll(folder.path, { 'images.yaml': imagesText(other) });
      const { hints } = await render(folder.path, 'bootstrap', ...BOTH);
      assert.deepEqual(hints, [
        'images.yaml: images.json has "cloudControlerManagerGCP", which nobody reads. Did you mean cloudControllerManagerGCP?',
        'images.yaml: images.json has "x", which nobody reads',
      ]);
    });

    for (const type of ['AWS', 'BareMetal'] as const) {
      it(`operator/R87: a destination that is a file ends with exit code 3 on ${type}`, async () => {
        await using folder = await installer({ 'infra.yaml': infrastructureText({ type }), out: '' });
        await assert.rejects(render(folder.path, 'bootstrap', ...BOTH, OUT), {
          code: 'SW1304',
          exitCode: 3,
          message: /out is no folder: choose another place/,
        });
      });

      it(`operator/R87: a destination that takes no folders ends with exit code 3 on ${type}`, async () => {
        await using folder = await installer({ 'infra.yaml': infrastructureText({ type }) });
        if (existsSync('/proc/self'))
          await assert.rejects(render(folder.path, 'bootstrap', ...BOTH, '--dest-dir=/proc/slipway'), {
            code: 'SW1304',
            exitCode: 3,
            message: /cannot be written/,
          });
      });
    }
  });
});
