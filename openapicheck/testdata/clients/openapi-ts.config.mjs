export default ["control", "openapi"].map((name) => ({
  input: `./descriptions/${name}.yaml`,
  output: { path: `generated/${name}`, module: { extension: ".js" } },
  plugins: ["@hey-api/client-fetch", "@hey-api/typescript", "@hey-api/sdk"],
}));
