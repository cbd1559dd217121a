import type { OutputSink } from '../../process/process-host.ts';

/** The log of one run of a container, in the format of the container runtime interface (N39). */
export interface ContainerLog extends OutputSink {
  /** One line of the lab itself, such as that the container is simulated. */
  line(text: string): void;
  /** The last lines, for termination messages (N15). */
  tail(lines: number, bytes: number): Promise<string>;
  readonly path: string;
}
