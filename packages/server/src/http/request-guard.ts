import type { IncomingHttpHeaders } from "node:http";
import { localhostAllowedHostnames } from "@modelcontextprotocol/server";
import { isLoopback } from "./loopback.ts";

export interface RequestGuardOptions {
  /** The address that is listened on. */
  readonly host: string;
  /** Host names, with or without a port, by which the server may be called beside its own. */
  readonly allowedHosts: readonly string[];
  /** Origins of pages that may call the server: `https://app.example` exactly, or a host name with any scheme and port. */
  readonly allowedOrigins: readonly string[];
}

/** What is wrong with where a request comes from, or undefined. */
export type RequestGuard = (headers: IncomingHttpHeaders) => string | undefined;

const everyAddress = new Set(["0.0.0.0", "::", "[::]", ""]);

/**
 * Keeps out pages that had their name point at this server (DNS rebinding) and pages of foreign sites. A request without
 * an `Origin` comes from no page. On all addresses without `allowedHosts` any name is taken: it is not known.
 */
export const createRequestGuard = ({ host, allowedHosts, allowedOrigins }: RequestGuardOptions): RequestGuard => {
  const local = isLoopback(host) ? localhostAllowedHostnames() : [];
  const hosts = new Set([...local, ...allowedHosts, host].map(toHostname));
  const anyHost = everyAddress.has(host) && allowedHosts.length === 0;
  const origins = new Set(
    allowedOrigins.filter((entry) => entry.includes("://")).map((entry) => originOf(entry)?.origin),
  );
  const originHosts = new Set([...local, ...allowedOrigins.filter((entry) => !entry.includes("://"))].map(toHostname));
  return (headers) => {
    if (headers.host !== undefined && !URL.canParse(`http://${headers.host}`)) return "Host is not allowed";
    const name = headers.host === undefined ? undefined : toHostname(headers.host);
    if (!anyHost && (name === undefined || !hosts.has(name))) return "Host is not allowed";
    if (headers.origin === undefined) return undefined;
    const origin = originOf(headers.origin);
    if (origin === undefined) return "Origin is not allowed";
    return origins.has(origin.origin) || originHosts.has(toHostname(origin.hostname))
      ? undefined
      : "Origin is not allowed";
  };
};

/** Lower case, without the port. IPv6 addresses in brackets. */
const toHostname = (host: string): string => {
  const text = host.trim().toLowerCase();
  if (text.startsWith("[")) return text.slice(0, text.indexOf("]") + 1);
  return text.split(":").length > 2 ? `[${text}]` : (text.split(":")[0] ?? "");
};

const originOf = (text: string): URL | undefined => {
  try {
    const url = new URL(text);
    return url.hostname === "" ? undefined : url;
  } catch {
    return undefined;
  }
};
