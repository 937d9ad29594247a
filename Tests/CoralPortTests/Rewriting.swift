#if Macros
    import Foundation
    import Testing

    @testable import CoralPort

    /// The texts of the files of one module after rewriting; they must not change a second time.
    func rewritten(_ texts: String...) -> [String] {
        func rewrite(_ texts: [String]) -> [String] {
            var package = PortedPackage(
                texts.enumerated().map { SourceFile(text: $1, url: URL(fileURLWithPath: "/\($0).swift")) })
            #expect(package.omissions == [])
            package.rewrite(usesMacro: true)
            // Parsing after a change reuses what has not changed.
            for file in package.files {
                #expect(file.tree.debugDescription == SourceFile(text: file.text).tree.debugDescription)
            }
            return package.files.map(\.text)
        }
        let once = rewrite(texts)
        #expect(rewrite(once) == once)
        return once
    }
#endif
