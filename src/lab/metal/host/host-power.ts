/** A machine that is on, and what it boots. */
export interface BootedHost {
  /** Of the hardware, the same after every start: a uuid. */
  readonly id: string;
  /** Of the object that stands for it, in the namespace of the Machine. */
  readonly namespace: string;
  readonly name: string;
  readonly macAddresses: readonly string[];
  /** As Kubernetes spells them: `amd64`, `arm64`. */
  readonly architecture: string;
  readonly boot:
    | {
        readonly from: 'disk' /** Ignition as text: what the image on the disk is told. */;
        readonly userData: string;
      }
    | { readonly from: 'live-iso'; readonly url: string };
  /** What is on its config drive: `uuid`, `name`, `local-hostname` … Empty without one. */
  readonly metadata: Readonly<Record<string, string>>;
}

/** Power switches of machines. Whoever holds it calls it again and again: saying the same twice is the same as once. */
export interface HostPower {
  /** The machine is on and boots this. Resolves when it has begun, not when it has become something. */
  powerOn(host: BootedHost): Promise<void>;
  /** Off, and its disk is empty when it is switched on again. Succeeds for a machine that is off or unknown. */
  wipe(id: string): Promise<void>;
}
