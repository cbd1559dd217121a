import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { printYaml } from '../../src/object/yaml.ts';
import { httpStatus } from './http-status.ts';
import { type PickPort, withFreePort } from './port.ts';
import { type ProcessOptions, type RunningProcess, startProcess } from './process.ts';

export interface DockerRegistryOptions extends ProcessOptions {
  readonly file: string;
  /** For its configuration and its images. */
  readonly directory: string;
  readonly pickPort: PickPort;
  /** The section `auth` of its configuration; everybody may do everything without one. */
  readonly auth?: Readonly<Record<string, object>>;
}

export interface DockerRegistry {
  readonly process: RunningProcess;
  /** `127.0.0.1:port`, as images name it. */
  readonly host: string;
}

/** The registry of the distribution project on loopback, without TLS; ready when it answers, whoever is let in. */
export function startDockerRegistry(options: DockerRegistryOptions): Promise<DockerRegistry> {
  const { directory } = options;
  return withFreePort(options.pickPort, async (port) => {
    const host = `127.0.0.1:${port}`;
    const config = join(directory, 'registry.yaml');
    await writeFile(config, printYaml(configuration(host, options)));
    const isReady = async (signal: AbortSignal) => {
      const status = await httpStatus(`http://${host}/v2/`, signal, { isPlain: true });
      return status === 200 || status === 401;
    };
    const program = {
      name: 'docker-registry',
      file: options.file,
      arguments: ['serve', config],
      directory,
      isReady,
    };
    return { process: await startProcess(program, options), host };
  });
}

const configuration = (addr: string, { directory, auth }: DockerRegistryOptions) => ({
  version: '0.1',
  log: { level: 'error', accesslog: { disabled: true } },
  storage: { filesystem: { rootdirectory: join(directory, 'images') }, redirect: { disable: true } },
  http: { addr, secret: 'of-a-test' },
  ...(auth !== undefined && { auth }),
});
