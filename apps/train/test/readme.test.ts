import { testReadmeExamples } from "../../../scripts/lib/readme-examples.js";

testReadmeExamples(new URL("..", import.meta.url));
