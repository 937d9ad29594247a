#if Macros
    import SwiftCompilerPlugin
    import SwiftSyntaxMacros

    /// The plugin that the compiler runs to expand the macros.
    @main
    struct Plugin: CompilerPlugin {
        let providingMacros: [any Macro.Type] = [
            ManagedMacro.self, ManagedValueMacro.self, MappedMacro.self, MappedAsMacro.self,
        ]
    }
#else
    /// Does nothing: without the trait `Macros` there are no macros.
    @main
    struct Plugin {
        static func main() {}
    }
#endif
