/** Checks the addresses that the gateway calls: never those of cloud metadata services, which hand out a machine's credentials. */
import { type LookupAddress, lookup } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";
import { WhetstoneError } from "../../core/errors.ts";

/** Link-local addresses, and those of the metadata services of Alibaba, Oracle and Azure. */
const ipv4 = [
  ["169.254.0.0", 16],
  ["100.100.100.200", 32],
  ["192.0.0.192", 32],
  ["168.63.129.16", 32],
] as const;
/** Beginnings of IPv6 addresses that stand for the IPv4 address at their end: compatible, translated, and NAT64's. Mapped ones are checked as IPv4. */
const prefixes = ["::", "::ffff:0:", "64:ff9b::"];
/** The prefix of 6to4 with an IPv4 address. */
const sixToFour = (address: string): string => {
  const hex = address.split(".").map((byte) => Number(byte).toString(16).padStart(2, "0"));
  return `2002:${hex[0]}${hex[1]}:${hex[2]}${hex[3]}::`;
};

/**
 * Link-local addresses and the other addresses of cloud metadata services, also within IPv6. Private and loopback
 * addresses are allowed: models run there, and only an operator can name one.
 */
const refused = new BlockList();
for (const [address, bits] of ipv4) {
  refused.addSubnet(address, bits, "ipv4");
  for (const prefix of prefixes) refused.addSubnet(`${prefix}${address}`, 96 + bits, "ipv6");
  refused.addSubnet(sixToFour(address), 16 + bits, "ipv6");
}
refused.addSubnet("fe80::", 10, "ipv6");
// the local NAT64 prefix, in which the IPv4 address has no one place, and Teredo, which hides it: as a whole
refused.addSubnet("64:ff9b:1::", 48, "ipv6");
refused.addSubnet("2001::", 32, "ipv6");
// Amazon, Oracle, Google
for (const address of ["fd00:ec2::254", "fd00:c1::a9fe:a9fe", "fd20:ce::254"])
  refused.addAddress(address, "ipv6");

/** Whether calls to an IPv4 or IPv6 address are refused. */
export const isRefusedAddress = (address: string): boolean =>
  refused.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");

/**
 * The base URL of an upstream, without a trailing slash.
 * @throws WhetstoneError `config.invalid` for a URL that is not http(s), holds a password, or has a refused address.
 */
export function upstreamBase(url: string): string {
  const wrong = (got: string, fix: string): WhetstoneError =>
    new WhetstoneError("config.invalid", {
      where: "upstream",
      got,
      expected: "the base URL of an OpenAI-compatible server, such as https://api.openai.com/v1",
      fix,
    });
  if (!URL.canParse(url)) throw wrong(`"${url}"`, "Write the whole address, with http:// or https://.");
  const { protocol, username, password, search, hash, hostname, origin, pathname } = new URL(url);
  if (!/^https?:$/.test(protocol)) throw wrong(`an address of kind ${protocol}`, "Use http or https.");
  if (username !== "" || password !== "") {
    throw wrong(
      "an address with a user and password in it",
      "Name the environment variable of the key instead.",
    );
  }
  if (search !== "" || hash !== "") throw wrong(`"${url}"`, "Remove the part after ? or #.");
  const address = hostname.replace(/^\[|\]$/g, "");
  if (isIP(address) !== 0 && isRefusedAddress(address)) throw refusedAddress(address);
  return `${origin}${pathname.replace(/\/+$/, "")}`;
}

const refusedAddress = (address: string): WhetstoneError =>
  new WhetstoneError("config.invalid", {
    where: "upstream",
    got: `the link-local or metadata address ${address}`,
    expected: "the address of a model server",
    fix: "Name the model's own address.",
  });

/** DNS lookup that fails if a name resolves to a refused address. */
export const guardedLookup: LookupFunction = (hostname, options, done) => {
  lookup(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
    const bad = error ? undefined : addresses.find(({ address }) => isRefusedAddress(address));
    const failed = error ?? (bad && refusedAddress(bad.address));
    if (failed) return done(failed, "", 0);
    if (options.all) return done(null, addresses);
    const [first] = addresses;
    done(null, first?.address ?? "", first?.family);
  });
};
