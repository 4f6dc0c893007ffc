#!/usr/bin/env node
import { runAsProgram } from "../perf/main.js";

await runAsProgram("broadcast");
