//! Calls to contracts, and their answers.

use alloy_sol_types::sol;

sol! {
    /// Our purse; its source is `contracts/Purse.sol`.
    #[derive(Debug)]
    interface Purse {
        function buy(bytes32 id, uint256 units, uint256 most, uint256 deadline) external;
        function sell(bytes32 id, uint256 units, uint256 least, uint256 deadline) external;
        function provide(bytes32 id, uint128 amount, uint256 units, uint256 most, uint256 deadline) external returns (uint256 paid);
        function withdraw(bytes32 id, uint128 amount, uint256 least, uint256 deadline) external returns (uint256 got);
        function bringIn() external;
        function sendHome(address token) external;
        function retire() external;
        function setKey(address key, uint64 until) external;
        function setAllowance(address token, uint256 aDay) external;
        function freeze(bool frozen) external;
        function setRange(int24 lower, int24 upper) external;
        function sweep(address token) external;
        function left(address token) external view returns (uint256);
        function allowances(address token) external view returns (uint256 aDay, uint256 left, uint64 since);
        function liquidity() external view returns (uint128);
        function lower() external view returns (int24);
        function upper() external view returns (int24);
        function uniswapV3MintCallback(uint256 owed0, uint256 owed1, bytes data) external;
        function done(bytes32 id) external view returns (bool);
        function key() external view returns (address);
        function until() external view returns (uint64);
        function frozen() external view returns (bool);
        function owner() external view returns (address);
        event Exchanged(bytes32 indexed id, bool bought, uint256 paid, uint256 got);
        error NotYours();
        error Over();
        error IsFrozen();
        error Late();
        error Again();
        error TooMuch(uint256 asked, uint256 left);
        error TooLittle(uint256 got, uint256 least);
        error Nothing();
        error TokenFailed();
        error WithinItself();
        error NoRange();
    }

    #[derive(Debug)]
    interface Token {
        function balanceOf(address owner) external view returns (uint256);
        function allowance(address owner, address spender) external view returns (uint256);
        function approve(address spender, uint256 value) external returns (bool);
        function transfer(address to, uint256 value) external returns (bool);
        function mint(address to, uint256 value) external;
        function behave(uint256 keptOfTenThousand, bool lies) external;
        function deposit() external payable;
    }

    #[derive(Debug)]
    interface Pool {
        function slot0() external view returns (uint160 sqrtPriceX96, int24 tick, uint16 observationIndex, uint16 observationCardinality, uint16 observationCardinalityNext, uint8 feeProtocol, bool unlocked);
        function token0() external view returns (address);
        function liquidity() external view returns (uint128);
        event Swap(address indexed sender, address indexed recipient, int256 amount0, int256 amount1, uint160 sqrtPriceX96, uint128 liquidity, int24 tick);
    }

    #[derive(Debug)]
    interface Factory {
        function getPool(address a, address b, uint24 fee) external view returns (address);
    }

    #[derive(Debug)]
    interface Quoter {
        struct ExactInput { address tokenIn; address tokenOut; uint256 amountIn; uint24 fee; uint160 sqrtPriceLimitX96; }
        struct ExactOutput { address tokenIn; address tokenOut; uint256 amount; uint24 fee; uint160 sqrtPriceLimitX96; }
        function quoteExactInputSingle(ExactInput params) external returns (uint256 amountOut, uint160 sqrtPriceX96After, uint32 initializedTicksCrossed, uint256 gasEstimate);
        function quoteExactOutputSingle(ExactOutput params) external returns (uint256 amountIn, uint160 sqrtPriceX96After, uint32 initializedTicksCrossed, uint256 gasEstimate);
    }

    #[derive(Debug)]
    interface Router {
        struct ExactInputSingleParams { address tokenIn; address tokenOut; uint24 fee; address recipient; uint256 deadline; uint256 amountIn; uint256 amountOutMinimum; uint160 sqrtPriceLimitX96; }
        function exactInputSingle(ExactInputSingleParams params) external payable returns (uint256 amountOut);
    }

    #[derive(Debug)]
    interface Positions {
        struct MintParams { address token0; address token1; uint24 fee; int24 tickLower; int24 tickUpper; uint256 amount0Desired; uint256 amount1Desired; uint256 amount0Min; uint256 amount1Min; address recipient; uint256 deadline; }
        function createAndInitializePoolIfNecessary(address token0, address token1, uint24 fee, uint160 sqrtPriceX96) external payable returns (address pool);
        function mint(MintParams params) external payable returns (uint256 tokenId, uint128 liquidity, uint256 amount0, uint256 amount1);
    }
}
