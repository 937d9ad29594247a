#if Macros
    import SwiftCompilerPlugin
    import SwiftSyntaxMacros

    /// What the compiler starts when it meets one of the macros.
    @main
    struct Plugin: CompilerPlugin {
        let providingMacros: [any Macro.Type] = [
            ManagedMacro.self, ManagedValueMacro.self, MappedMacro.self, MappedAsMacro.self,
        ]
    }
#else
    /// Nothing: without the trait `Macros` there is no macro.
    @main
    struct Plugin {
        static func main() {}
    }
#endif
