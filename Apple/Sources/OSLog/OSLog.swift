// The module for `import OSLog`: everything is in `os`.
@_exported import os
