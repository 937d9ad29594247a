#if Macros
    import SwiftCompilerPlugin
    import SwiftSyntaxMacros

    /// The plugin that the compiler runs to expand the macros of SwiftData.
    @main
    struct Plugin: CompilerPlugin {
        let providingMacros: [any Macro.Type] = [
            ModelMacro.self, PersistedPropertyMacro.self, ReadByModelMacro.self, ModelActorMacro.self,
        ]
    }
#else
    /// Does nothing: without the trait `Macros` there are no macros.
    @main
    struct Plugin {
        static func main() {}
    }
#endif
