// The module for `import Combine`: OpenCombine with its extensions of Foundation and Dispatch, and what this module adds.

@_exported import OpenCombine
@_exported import OpenCombineDispatch
@_exported import OpenCombineFoundation
